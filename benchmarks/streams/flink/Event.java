// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import org.apache.flink.api.java.tuple.Tuple5;

/**
 * A row of either side. A tuple, since Flink serialises tuples faster than classes; the getters
 * name its fields, and in SQL they are f0 to f4.
 */
public final class Event extends Tuple5<Long, Boolean, Integer, Long, Double> {
    public Event() {}

    Event(long number, boolean isProbe, int key, long time, double value) {
        super(number, isProbe, key, time, value);
    }

    long number() {
        return f0;
    }

    boolean isProbe() {
        return f1;
    }

    int key() {
        return f2;
    }

    /** In milliseconds. */
    long time() {
        return f3;
    }

    double value() {
        return f4;
    }
}
