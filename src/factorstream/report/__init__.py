"""Tables, pictures and pages: tools that know nothing of any particular experiment."""
