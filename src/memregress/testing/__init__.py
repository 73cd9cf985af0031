"""Shipped for tests of stores and backends: golden sets with known properties, on which faults can be injected."""
