// SPDX-License-Identifier: Apache-2.0
package benchmarks.streams.flink;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * What the Scale-OIJ paper compares itself with (Section II-C): the probe rows of a key lie in a
 * buffer, and each base row looks at all of them when it arrives. Not exact: probe rows of its
 * window that arrive after it are missed.
 */
final class KeyOij extends KeyedProcessFunction<Integer, Event, Features> {
    private final long window;
    private transient MapState<Long, List<Double>> probes;

    private KeyOij(long window) {
        this.window = window;
    }

    static DataStream<Features> plan(DataStream<Event> events, long window) {
        return events
            .keyBy(Event::key, Types.INT)
            .process(new KeyOij(window), TypeInformation.of(Features.class));
    }

    @Override
    public void open(OpenContext context) {
        probes =
            getRuntimeContext()
                .getMapState(
                    new MapStateDescriptor<>("probes", Types.LONG, Types.LIST(Types.DOUBLE)));
    }

    @Override
    public void processElement(Event event, Context context, Collector<Features> out)
            throws Exception {
        if (event.isProbe()) {
            keep(event, context);
        } else {
            out.collect(scan(event.time()));
        }
    }

    /** By time; those of an instant leave when no base row to come can have them in its window. */
    private void keep(Event probe, Context context) throws Exception {
        List<Double> values = probes.get(probe.time());
        if (values == null) {
            values = new ArrayList<>(2);
            context.timerService().registerEventTimeTimer(probe.time() + window);
        }
        values.add(probe.value());
        probes.put(probe.time(), values);
    }

    private Features scan(long time) throws Exception {
        Features features = new Features();
        for (Map.Entry<Long, List<Double>> probe : probes.entries()) {
            if (probe.getKey() >= time - window && probe.getKey() <= time) {
                probe.getValue().forEach(features::add);
            }
        }
        return features;
    }

    @Override
    public void onTimer(long time, OnTimerContext context, Collector<Features> out)
            throws Exception {
        probes.remove(time - window);
    }
}
