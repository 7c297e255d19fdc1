"""Read and write files: PrefLib, tables of battles, rankings and scores."""
