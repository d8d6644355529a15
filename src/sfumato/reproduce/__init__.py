"""The five papers, figure by figure: each figure, table and worked example an experiment, each statement a verdict."""
