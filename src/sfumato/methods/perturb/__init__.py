"""The classic ways to disturb a table, rivals of methods that promise something: these promise nothing."""
