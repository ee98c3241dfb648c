#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_DOCUMENT_FILE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_DOCUMENT_FILE_H_

#include "absl/status/status.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"

namespace kernelmill::extractor {

using python::PythonParser;

// Lists a notebook or another document (common/documents/document.h) in the shard, and adds the
// kernels in its code and the definitions that they use. Lines and offsets are those of
// documents::Document.text; the link stage makes lines of cells from those of a notebook.
//
// The blocks of Python are one program, as the cells of a notebook are: a block without imports
// takes those of the page. A block that is no Python by itself is read apart, below the blocks that
// are. Blocks of CUDA are one program as well, as long as they do not define a name again; cells of
// CUDA are programs of their own. A block without a language is what its text looks like.
//
// The parts that are lost are in skipped_strings with their line in Document.text, and so is the
// block at which one of ExtractOptions' bounds for JSON is reached.
absl::Status ExtractDocument(const v1::SourceFile& source, const PythonParser& parser,
                             const ExtractOptions& options, v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_EXTRACT_DOCUMENT_FILE_H_
