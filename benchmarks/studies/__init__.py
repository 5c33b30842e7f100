# SPDX-License-Identifier: Apache-2.0
"""Programs that each study one question, such as growth, scaling, costs or overheads."""
