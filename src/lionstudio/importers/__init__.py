"""PAST RUNS IN. Read foreign files, hand drafts to services. Imports domain and services."""
