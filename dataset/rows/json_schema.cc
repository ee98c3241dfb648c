#include "dataset/rows/json_schema.h"

#include <utility>

namespace kernelmill::dataset {
namespace {

Json ObjectSchema(const Fields& fields);

const char* TypeName(Field::Type type) {
  switch (type) {
    case Field::Type::kString:
      return "string";
    case Field::Type::kInteger:
      return "integer";
    case Field::Type::kNumber:
      return "number";
    case Field::Type::kBoolean:
      return "boolean";
    case Field::Type::kStruct:
      return "object";
  }
  return "";
}

// Returns the schema of one value: that of the field, or an element of its list.
Json ValueSchema(const Field& field) {
  Json schema = field.type == Field::Type::kStruct ? ObjectSchema(field.fields) : Json::object();
  schema["type"] = TypeName(field.type);
  if (!field.words.empty()) schema["enum"] = field.words;
  if (!field.nullable) return schema;
  schema["type"] = {TypeName(field.type), "null"};
  if (!field.words.empty()) schema["enum"].push_back(nullptr);
  return schema;
}

// A list is never null, so only its elements' schema depends on the field.
Json FieldSchema(const Field& field) {
  Json schema = ValueSchema(field);
  if (field.list) schema = {{"type", "array"}, {"items", std::move(schema)}};
  schema["description"] = field.description;
  return schema;
}

// Every field is required: a row has all keys, with null or an empty list for what it lacks.
Json ObjectSchema(const Fields& fields) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Field& field : fields) {
    properties[field.name] = FieldSchema(field);
    required.push_back(field.name);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

}  // namespace

Json JsonSchema(const RowSchema& schema) {
  Json json = ObjectSchema(schema.fields);
  json["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  json["title"] = schema.file;
  json["description"] = schema.description;
  return json;
}

}  // namespace kernelmill::dataset
