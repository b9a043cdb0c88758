package io.lendstream.agent;

import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.RequestRate;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.PrintStream;
import java.util.List;

/**
 * Prints what was sampled.
 *
 * @param json whether for machines, a JSON object a line; otherwise for people
 */
record Printer(PrintStream out, boolean json) {

    /** @param why what is the matter with a node; empty where nothing is */
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

    /** For machines, where it was asked for; nothing else is printed of a service that runs. */
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
