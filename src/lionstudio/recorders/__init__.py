"""LIVE RUNS IN. Watch a run as it happens. Imports domain and services."""
