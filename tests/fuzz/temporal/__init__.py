# SPDX-License-Identifier: Apache-2.0
"""Random queries inside `sequenced`, each beside its plain text on the slice of each instant.

`make fuzz-temporal CASES=2000 SEED=7` repeats a run. What differs is made small and written to
`target/fuzz-temporal/`, as SQL that stands alone.
"""
