"""Health watched: gather evidence, classify, write it down; never heal by itself."""
