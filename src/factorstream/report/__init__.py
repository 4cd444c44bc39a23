"""Tables, pictures and pages, and the report on a fitted model."""
