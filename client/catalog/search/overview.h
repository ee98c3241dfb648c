#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_OVERVIEW_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_OVERVIEW_H_

#include <cstddef>
#include <string>

#include "client/catalog/search/facet_column.h"

namespace kernelmill::client {

// The first page describes the dataset: how many kernels there are, in which languages, from
// how many repositories and under which licences, with charts. HTML.
struct OverviewInput {
  size_t kernels;
  const FacetColumn& operations;
  const FacetColumn& languages;
  const FacetColumn& hardware;
  const FacetColumn& licenses;
  const FacetColumn& repositories;
  const FacetColumn& kinds;
};
std::string OverviewHtml(const OverviewInput& input);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_OVERVIEW_H_
