# SPDX-License-Identifier: Apache-2.0
"""Random queries inside `sequenced`, compared with the plain query on the snapshots.

`make fuzz-temporal CASES=2000 SEED=7` repeats a run. A failing case is shrunk and written to
`target/fuzz-temporal/` as self-contained SQL.
"""
