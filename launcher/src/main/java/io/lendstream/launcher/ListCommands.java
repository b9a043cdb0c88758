package io.lendstream.launcher;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.forecast.service.Models;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.launcher.cluster.OutputOptions;
import io.lendstream.simulator.workload.Presets;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the names that other commands take. */
final class ListCommands {
    private ListCommands() {}

    /** Prints names with their summaries. */
    abstract static class Listing implements Runnable {
        @Spec
        @SuppressWarnings("NullAway.Init") // picocli sets it
        private CommandSpec spec;

        @Mixin
        private OutputOptions output = new OutputOptions();

        private final ArrayNode entries = JsonNodeFactory.instance.arrayNode();

        /** Adds all entries. */
        abstract void list();

        final ObjectNode add(String name, String summary) {
            return entries.addObject().put("name", name).put("summary", summary);
        }

        @Override
        public final void run() {
            list();
            PrintWriter out = spec.commandLine().getOut();
            if (output.json()) {
                out.println(OutputOptions.write(entries));
            } else {
                entries.forEach(entry -> out.println("%-16s %s"
                        .formatted(
                                entry.get("name").asText(), entry.get("summary").asText())));
            }
            out.flush();
        }
    }

    @Command(
            name = "policies",
            description = "List the scheduling policies with their objectives.",
            footer = "Example: lendstream policies --json")
    static final class ThePolicies extends Listing {
        @Override
        void list() {
            for (Policy policy : Policies.all()) {
                PolicyInfo info = policy.info();
                ObjectNode entry = add(info.name(), info.summary())
                        .put("elastic", info.elastic())
                        .put("needsDurations", info.needsDurations())
                        .put("usesForecasts", info.looksAhead())
                        .put("choosesKinds", policy.kinds().isPresent())
                        .put("experimental", info.isExperimental());
                info.warning().ifPresent(warning -> entry.put("warning", warning));
            }
            add("no-lending", "for replay: deepboot with lending off, training on its own nodes only");
        }
    }

    @Command(name = "models", description = "List the forecast models.", footer = "Example: lendstream models --json")
    static final class TheModels extends Listing {
        @Override
        void list() {
            Models.all().forEach(model -> add(model.name(), model.summary()));
        }
    }

    @Command(
            name = "presets",
            description = "List the built-in workloads.",
            footer = "Example: lendstream presets --json")
    static final class ThePresets extends Listing {
        @Override
        void list() {
            Presets.all().forEach(preset -> add(preset.name(), preset.summary()));
        }
    }
}
