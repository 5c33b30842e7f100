// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import org.apache.flink.api.java.tuple.Tuple3;

/** What a base row gets of its window: how many probe rows, their sum, and the greatest. */
public final class Features extends Tuple3<Long, Double, Double> {
    public Features() {
        super(0L, 0.0, Double.NEGATIVE_INFINITY);
    }

    void add(double value) {
        f0++;
        f1 += value;
        f2 = Math.max(f2, value);
    }

    long count() {
        return f0;
    }

    double sum() {
        return f1;
    }
}
