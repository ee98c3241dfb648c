#ifndef KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_STAGES_FIXTURE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_STAGES_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/cas/testing/memory_blob_store.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/server/extractor_stages.h"

namespace kernelmill::extractor {

class ExtractorStagesTest : public ::testing::Test {
 protected:
  ExtractorStagesTest() : stages_(NewExtractorStages()) {}

  worker::Stage& extract() { return *stages_[0]; }
  worker::Stage& link() { return *stages_[1]; }

  template <typename Message>
  void AddInput(v1::Action& action, const std::string& name, const Message& message) {
    v1::NamedDigest& input = *action.add_inputs();
    input.set_name(name);
    *input.mutable_digest() = cas::PutMessage(store_, message).value();
  }

  static v1::FileShard Files(const std::string& path) {
    v1::FileShard files;
    v1::SourceFile& file = *files.add_files();
    file.set_path(path);
    file.set_content("import triton\n@triton.jit\ndef a(): pass\n@triton.jit\ndef b(): pass\n");
    return files;
  }

  cas::MemoryBlobStore store_;
  std::vector<std::unique_ptr<worker::Stage>> stages_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_STAGES_FIXTURE_H_
