# SPDX-License-Identifier: Apache-2.0
"""Window unions and joins of streams: the workloads of Scale-OIJ and SPO-Join."""
