"""How often the intervals of the library contain what they are for."""
