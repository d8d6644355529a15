"""Methods that publish people as they are with sensitive values drawn anew."""
