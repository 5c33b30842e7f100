# SPDX-License-Identifier: Apache-2.0
"""The papers' own algorithms and their rivals over arrays, and the papers' figures.

"The paper" is Piatov, Helmer, Dignoes, Persia: Cache-efficient sweeping-based interval joins for
extended Allen relation predicates, VLDB Journal 2021. Numbers are its sections; appendices are
those of its technical report.

    loops/iterators                5.1, 5.2: the Endpoint Index and its iterators
    loops/active                   7.4: the gapless hash map
    loops/sweep                    5.3, 7.2: JoinByS and LazyJoinByS
    loops/assembly, relations      6.1, 6.2: the joins, and each relation expressed by them
    loops/rivals, algorithms       2: the algorithms that the paper or we compare with
    figures                        9: the measurements

README.md lists the differences from the paper, and which of its findings are confirmed.
"""
