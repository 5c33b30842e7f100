# SPDX-License-Identifier: Apache-2.0
"""Window unions of streams: the workloads of Scale-OIJ, and how many events a second they take."""
