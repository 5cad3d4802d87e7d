"""What the user sees: tables on the terminal, JSON, one HTML page."""
