// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import java.time.Duration;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.co.ProcessJoinFunction;
import org.apache.flink.util.Collector;

/**
 * Flink's interval join, and what each base row is paired with added up. Exact, except that base
 * rows without a partner are lost: the join is an inner one.
 */
final class JoinThenAggregate {
    private JoinThenAggregate() {}

    static DataStream<Features> plan(DataStream<Event> events, long window) {
        return side(events, false)
            .intervalJoin(side(events, true))
            .between(Duration.ofMillis(-window), Duration.ZERO)
            .process(new Pairs(), Types.TUPLE(Types.LONG, Types.LONG, Types.DOUBLE))
            .keyBy(pair -> pair.f0, Types.LONG)
            .process(new AddUp(), TypeInformation.of(Features.class));
    }

    /** The rows of one stream, by key. */
    static KeyedStream<Event, Integer> side(DataStream<Event> events, boolean isProbe) {
        return events
            .filter(event -> event.isProbe() == isProbe)
            .setParallelism(1)
            .keyBy(Event::key, Types.INT);
    }

    /** The number and the time of a base row, and the value of a probe row in its window. */
    private static final class Pairs
            extends ProcessJoinFunction<Event, Event, Tuple3<Long, Long, Double>> {
        @Override
        public void processElement(
                Event base,
                Event probe,
                Context context,
                Collector<Tuple3<Long, Long, Double>> out) {
            out.collect(Tuple3.of(base.number(), base.time(), probe.value()));
        }
    }

    /** All pairs of a base row are there when the watermark is at its time, its window's end. */
    private static final class AddUp
            extends KeyedProcessFunction<Long, Tuple3<Long, Long, Double>, Features> {
        private transient ValueState<Features> soFar;

        @Override
        public void open(OpenContext context) {
            TypeInformation<Features> type = TypeInformation.of(Features.class);
            soFar = getRuntimeContext().getState(new ValueStateDescriptor<>("so far", type));
        }

        @Override
        public void processElement(
                Tuple3<Long, Long, Double> pair, Context context, Collector<Features> out)
                throws Exception {
            Features features = soFar.value();
            if (features == null) {
                features = new Features();
                context.timerService().registerEventTimeTimer(pair.f1);
            }
            features.add(pair.f2);
            soFar.update(features);
        }

        @Override
        public void onTimer(long time, OnTimerContext context, Collector<Features> out)
                throws Exception {
            out.collect(soFar.value());
            soFar.clear();
        }
    }
}
