"""HOW IT IS KEPT. Every SQL statement in the project. Imports domain; imported only by services."""
