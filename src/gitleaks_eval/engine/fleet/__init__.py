"""A list of repositories: a unit of work each, on this machine or a Dask cluster, and the store of comparisons."""
