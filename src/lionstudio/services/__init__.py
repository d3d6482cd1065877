"""WHAT ONE CAN DO. One function = one use case = one transaction. Imports domain and store."""
