// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** Where all plans end: what came out is added up, and thrown away. */
final class Totals {
    static final LongAdder ROWS = new LongAdder();
    static final LongAdder PAIRS = new LongAdder();
    static final DoubleAdder SUM = new DoubleAdder();

    private Totals() {}

    static void of(DataStream<Features> features) {
        features.map(Totals::add).returns(Types.BOOLEAN).sinkTo(new DiscardingSink<>());
    }

    private static boolean add(Features features) {
        ROWS.increment();
        PAIRS.add(features.count());
        SUM.add(features.sum());
        return true;
    }
}
