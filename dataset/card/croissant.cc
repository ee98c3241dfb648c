#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "dataset/card/card.h"
#include "dataset/output/dataset_files.h"
#include "dataset/rows/row_schema.h"

// croissant.json describes the files of an export for Croissant 1.1 (MLCommons): each file with its
// hash, the Parquet files of a table as a set, and the fields of a table as a record set, read from
// the row schema. A struct becomes a field with sub-fields, which Croissant takes out of the column
// by a JSON path. It has no form for a list within a list, so such fields are left out of the
// description; the files have them.
namespace kernelmill::dataset {
namespace {

constexpr char kParquetFormat[] = "application/x-parquet";  // as Croissant names it
constexpr char kLinesFormat[] = "application/jsonlines";

// The context of Croissant 1.1, which every file has to repeat.
constexpr char kContext[] = R"({
  "@language": "en", "@vocab": "https://schema.org/", "arrayShape": "cr:arrayShape",
  "citeAs": "cr:citeAs", "column": "cr:column", "conformsTo": "dct:conformsTo",
  "containedIn": "cr:containedIn", "cr": "http://mlcommons.org/croissant/",
  "data": {"@id": "cr:data", "@type": "@json"},
  "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
  "description": {"@container": "@language"}, "equivalentProperty": "cr:equivalentProperty",
  "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract",
  "field": "cr:field", "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty",
  "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes",
  "isArray": "cr:isArray", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath",
  "key": "cr:key", "md5": "cr:md5", "name": {"@container": "@language"},
  "parentField": "cr:parentField", "path": "cr:path",
  "rai": "http://mlcommons.org/croissant/RAI/", "recordSet": "cr:recordSet",
  "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
  "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/",
  "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField",
  "transform": "cr:transform"})";

const char* CroissantType(Field::Type type) {
  switch (type) {
    case Field::Type::kInteger:
      return "sc:Integer";
    case Field::Type::kNumber:
      return "sc:Float";
    case Field::Type::kBoolean:
      return "sc:Boolean";
    case Field::Type::kString:
    case Field::Type::kStruct:  // has none of its own
      break;
  }
  return "sc:Text";
}

Json FileObject(const WrittenFile& file, absl::string_view format) {
  return {{"@type", "cr:FileObject"},
          {"@id", file.path},
          {"name", file.path},
          {"contentUrl", file.path},
          {"contentSize", absl::StrCat(file.size, " B")},
          {"encodingFormat", std::string(format)},
          {"sha256", file.sha256}};
}

std::string FileSetId(const Table& table) { return absl::StrCat(table.config, "-files"); }

Json FileSet(const Table& table) {
  return {{"@type", "cr:FileSet"},
          {"@id", FileSetId(table)},
          {"name", FileSetId(table)},
          {"encodingFormat", kParquetFormat},
          {"includes", absl::StrCat(kTablesFolder, "/", table.config, "/*.parquet")}};
}

// The fields of one record set.
class RecordFields {
 public:
  explicit RecordFields(const Table& table) : files_(FileSetId(table)), config_(table.config) {}

  Json Of(const Fields& fields) const {
    Json list = Json::array();
    for (const Field& field : fields) {
      Json json = FieldJson(field, config_, field.name, "");
      if (!json.is_null()) list.push_back(std::move(json));
    }
    return list;
  }

 private:
  // Describes a field. Returns null for one that cannot be described. `path` is the way to the
  // field within its column, as names with dots; it is empty if the field is the column.
  Json FieldJson(const Field& field, const std::string& parent, const std::string& column,
                 const std::string& path) const {
    const std::string id = absl::StrCat(parent, "/", field.name);
    Json json = {{"@type", "cr:Field"},
                 {"@id", id},
                 {"name", field.name},
                 {"description", field.description}};
    if (field.list) {
      json["isArray"] = true;
      json["arrayShape"] = "-1";
    }
    if (field.type != Field::Type::kStruct) {
      json["dataType"] = CroissantType(field.type);
      json["source"] = Source(column, path);
      return json;
    }
    // A list of structs within a struct has no JSON path.
    if (field.list && !path.empty()) return nullptr;
    for (const Field& inner : field.fields) {
      // Within a list of structs only plain fields have a form.
      if (field.list && (inner.list || inner.type == Field::Type::kStruct)) continue;
      Json sub =
          FieldJson(inner, id, column, absl::StrCat(path, path.empty() ? "" : ".", inner.name));
      if (!sub.is_null()) json["subField"].push_back(std::move(sub));
    }
    return json.contains("subField") ? json : Json();
  }

  // Says where a field's values are: in a column of the file set, and perhaps at a path in the
  // column.
  Json Source(const std::string& column, const std::string& path) const {
    Json source = {{"fileSet", {{"@id", files_}}}, {"extract", {{"column", column}}}};
    if (!path.empty()) source["transform"] = {{"jsonPath", path}};
    return source;
  }

  std::string files_;
  std::string config_;
};

// A table's schema is found by the name of its file.
Json RecordSet(const Table& table) {
  const std::vector<RowSchema>& schemas = RowSchemas();
  const auto schema =
      std::find_if(schemas.begin(), schemas.end(),
                   [&table](const RowSchema& schema) { return schema.file == table.lines.path; });
  return {{"@type", "cr:RecordSet"},
          {"@id", table.config},
          {"name", table.config},
          {"description", schema->description},
          {"field", RecordFields(table).Of(schema->fields)}};
}

// Returns the pages of SPDX for the licences that kept kernels are under, each once; the file of
// notices if none of them is known there.
Json LicensePages(const Json& report) {
  std::set<std::string> ids;
  for (const auto& [text, count] : report.at("licenses").items()) {
    const absl::StatusOr<spdx::SpdxExpression> expression = spdx::SpdxExpression::Parse(text);
    if (!expression.ok()) continue;
    for (const spdx::LicenseTerm& term : expression->Terms()) ids.insert(term.id);
  }
  Json pages = Json::array();
  for (const std::string& id : ids) {
    if (absl::StartsWith(id, "LicenseRef-") || !spdx::IsKnownLicenseId(id)) continue;
    pages.push_back(absl::StrCat("https://spdx.org/licenses/", id));
  }
  if (pages.empty()) pages.push_back(kNoticesFile);
  return pages;
}

}  // namespace

Json Croissant(const Json& report, const std::string& created, const std::vector<Table>& tables) {
  const std::string name = report.at("name");
  const std::string digest = report.at("dataset");
  Json files = Json::array(), records = Json::array();
  for (const Table& table : tables) {
    if (table.rows > 0) files.push_back(FileObject(table.lines, kLinesFormat));
    for (const SplitFiles& split : table.splits) {
      for (const WrittenFile& file : split.files) {
        files.push_back(FileObject(file, kParquetFormat));
      }
    }
    files.push_back(FileSet(table));
    records.push_back(RecordSet(table));
  }
  return {{"@context", Json::parse(kContext)},
          {"@type", "sc:Dataset"},
          {"conformsTo", "http://mlcommons.org/croissant/1.1"},
          {"name", name},
          {"description", absl::StrCat("GPU kernels with their origin and licence, made by "
                                       "kernelmill. Dataset ",
                                       digest, ".")},
          {"version", "1.0.0"},
          {"datePublished", created},
          {"license", LicensePages(report)},
          {"citeAs", absl::StrCat("@misc{kernelmill, title={", name, "}, note={Dataset ", digest,
                                  ", made by kernelmill}}")},
          {"distribution", std::move(files)},
          {"recordSet", std::move(records)}};
}

}  // namespace kernelmill::dataset
