// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import java.time.Duration;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.co.ProcessJoinFunction;
import org.apache.flink.util.Collector;

/**
 * Pairs of intervals of which the first overlaps the second, by Flink's interval join: an interval
 * that starts within the longest one after another's start, and what is compared besides.
 */
final class OverlapPairs {
    private OverlapPairs() {}

    static DataStream<Features> plan(DataStream<Event> events, long longest) {
        return JoinThenAggregate.side(events, false)
            .intervalJoin(JoinThenAggregate.side(events, true))
            .between(Duration.ZERO, Duration.ofMillis(longest))
            .process(new Overlaps(longest), TypeInformation.of(Features.class));
    }

    private static final class Overlaps extends ProcessJoinFunction<Event, Event, Features> {
        private final long longest;

        Overlaps(long longest) {
            this.longest = longest;
        }

        @Override
        public void processElement(
                Event r, Event s, Context context, Collector<Features> out) {
            long end = end(r);
            if (r.time() < s.time() && s.time() < end && end < end(s)) {
                Features pair = new Features();
                pair.add(s.value());
                out.collect(pair);
            }
        }

        /** The value says how long an interval is. */
        private long end(Event event) {
            return event.time() + 1 + (long) (event.value() * longest);
        }
    }
}
