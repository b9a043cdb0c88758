package io.lendstream.launcher;

import io.lendstream.core.forecast.service.Models;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.simulator.workload.Presets;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What can be named on the command line, a line each. */
final class ListCommands {
    private ListCommands() {}

    /** Prints names with what they stand for. */
    abstract static class Listing implements Runnable {
        @Spec
        @SuppressWarnings("NullAway.Init") // picocli sets it
        private CommandSpec spec;

        final void line(String name, String summary) {
            spec.commandLine().getOut().println("%-16s %s".formatted(name, summary));
        }
    }

    @Command(name = "policies", description = "List the policies.", footer = "Example: lendstream policies")
    static final class ThePolicies extends Listing {
        @Override
        public void run() {
            for (Policy policy : Policies.all()) {
                line(policy.info().name(), policy.info().summary());
            }
            line("no-lending", "for replay: deepboot with lending off, training on its own nodes only");
        }
    }

    @Command(name = "models", description = "List the forecast models.", footer = "Example: lendstream models")
    static final class TheModels extends Listing {
        @Override
        public void run() {
            Models.all().forEach(model -> line(model.name(), model.summary()));
        }
    }

    @Command(
            name = "presets",
            description = "List the workloads that are made here.",
            footer = "Example: lendstream presets")
    static final class ThePresets extends Listing {
        @Override
        public void run() {
            Presets.all().forEach(preset -> line(preset.name(), preset.summary()));
        }
    }
}
