package io.lendstream.launcher.cluster;

import io.lendstream.launcher.cluster.ClusterOptions.Cluster;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command about a cluster, which shows things of one kind to people or to tools. */
abstract class ClusterCommand implements Callable<Integer> {
    @Mixin
    private ClusterOptions options = new ClusterOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** The cluster that was named. */
    Cluster cluster() {
        return options.read();
    }

    /**
     * Prints things.
     *
     * @param json all of them, for tools
     * @param lines of one of them, for people
     */
    <T> void show(List<T> things, Function<List<T>, String> json, Function<T, List<String>> lines) {
        PrintWriter out = spec.commandLine().getOut();
        if (output.json()) {
            out.println(json.apply(things));
        } else {
            things.forEach(thing -> lines.apply(thing).forEach(out::println));
        }
        out.flush();
    }

    /** Says something beside what is shown. */
    void remark(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(line);
        err.flush();
    }
}
