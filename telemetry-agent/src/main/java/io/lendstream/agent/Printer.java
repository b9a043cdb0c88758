package io.lendstream.agent;

import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.RequestRate;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.PrintStream;
import java.util.List;

/**
 * Prints samples.
 *
 * @param json whether to print for machines, one JSON object a line; otherwise for people
 */
record Printer(PrintStream out, boolean json) {

    /** @param why the problem of a node; empty without one */
    void print(List<Node> inventory, List<GpuTelemetry> samples, String why) {
        if (json) {
            printJson(inventory, samples);
        } else {
            Table.of(inventory, samples).forEach(out::println);
            if (!why.isBlank()) {
                out.println(why);
            }
        }
    }

    /** Prints for machines, if requested; a running service prints nothing else. */
    void printJson(List<Node> inventory, List<GpuTelemetry> samples) {
        if (json) {
            inventory.forEach(node -> out.println(Codecs.encode(TopicCatalogue.NODES, node)));
            samples.forEach(sample -> out.println(Codecs.encode(TopicCatalogue.GPU_TELEMETRY, sample)));
        }
    }

    void printRates(List<RequestRate> rates) {
        if (json) {
            rates.forEach(rate -> out.println(Codecs.encode(TopicCatalogue.REQUEST_RATES, rate)));
        } else {
            Table.ofRates(rates).forEach(out::println);
        }
    }
}
