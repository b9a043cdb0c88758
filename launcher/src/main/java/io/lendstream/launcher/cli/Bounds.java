package io.lendstream.launcher.cli;

import io.lendstream.simulator.results.ResultFiles;
import java.nio.file.Path;

/** What options may be, where more than one command has them. */
public final class Bounds {
    private Bounds() {}

    public static void check(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw UserError.badUsage("%s is %d, but must be from %d to %d.".formatted(name, value, least, most));
        }
    }

    /** Both training and inference have a node at least. */
    public static void checkTrainingNodes(int training, int nodes) {
        if (training < 1 || training > nodes - 1) {
            throw UserError.badUsage(
                    "--training-nodes is %d, but must leave training and inference a node each of the %d that there are (--nodes); leave it out for half of them."
                            .formatted(training, nodes));
        }
    }

    /** Said before there is anything to write. */
    public static void checkOut(Path out) {
        if (out.toString().isEmpty()) {
            throw UserError.badUsage("--out is '', but must be a directory; name one, or . for this.");
        }
        ResultFiles.obstacle(out).ifPresent(obstacle -> {
            throw UserError.badUsage("--out is %s, but %s; name another directory.".formatted(out, obstacle));
        });
    }
}
