# SPDX-License-Identifier: Apache-2.0
"""The papers' own algorithms, and their rivals, over arrays; and the papers' figures redone.

Piatov, Helmer, Dignoes, Persia: Cache-efficient sweeping-based interval joins for extended Allen
relation predicates, VLDB Journal 2021; called "the paper" here, its sections by number. Appendices
are those of its technical report.

    index, iterators    5.1, 5.2: the Endpoint Index and what walks along it
    active              7.4: the gapless hash map
    sweep               5.3, 7.2: JoinByS and LazyJoinByS
    assembly, relations 6.1, 6.2: the joins, and each relation by them
    rivals, inequality  2: what the paper, or we, compare with
    figures             9: what is measured

README.md says what differs from the paper, and what came of its findings.
"""
