package io.lendstream.forecaster;

import io.lendstream.core.event.RequestRate;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes request rates on and sends undecodable records to the dead letters. */
final class PoisonSplit extends ProcessFunction<Incoming, RequestRate> {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(PoisonSplit.class);

    static final OutputTag<RateDeadLetter> DEAD_LETTERS = new OutputTag<>("dead-letters", DeadLetterSerializer.TYPE);

    private transient Counter poison = new SimpleCounter();

    @Override
    public void open(OpenContext context) {
        poison = getRuntimeContext().getMetricGroup().counter("poisonRecords");
    }

    @Override
    public void processElement(Incoming incoming, Context context, Collector<RequestRate> out) {
        if (incoming instanceof Incoming.Measured measured) {
            out.collect(measured.rate());
        } else if (incoming instanceof Incoming.Poison dead) {
            poison.inc();
            LOG.warn(
                    "record {}-{}@{} was written to the dead letters: {}",
                    dead.letter().record().topic(),
                    dead.letter().record().partition(),
                    dead.letter().record().offset(),
                    dead.letter().reason());
            context.output(DEAD_LETTERS, dead.letter());
        }
    }
}
