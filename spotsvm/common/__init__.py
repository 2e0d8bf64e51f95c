"""What all packages of spotsvm share: errors, texts, CSV files, drawing, fingerprints of data.

It may import the errors of `spotsvm.solvers` and `spotsvm.surrogates`, and nothing else of ours.
"""
