"""The audit from outside: a file in, a folder out, and all that lies between is unknown to the attacker."""
