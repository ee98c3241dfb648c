#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_SCHEMA_JSON_SCHEMA_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_SCHEMA_JSON_SCHEMA_H_

#include "services/exporter/core/output/json.h"
#include "services/exporter/core/schema/field.h"

namespace kernelmill::exporter {

// The schema as a JSON Schema (draft 2020-12) of one row: strict, so that a row with a field more
// or less is refused.
Json JsonSchema(const RowSchema& schema);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_SCHEMA_JSON_SCHEMA_H_
