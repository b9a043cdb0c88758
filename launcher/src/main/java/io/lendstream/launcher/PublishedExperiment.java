package io.lendstream.launcher;

import io.lendstream.launcher.ReplayExperiment.Run;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.simulator.published.PublishedReplay;
import io.lendstream.simulator.published.PublishedSettings;
import io.lendstream.simulator.published.PublishedWorkload;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.workload.Workload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** Replays of one workload with several policies in published timing: as the simulator of a paper, event by event. */
final class PublishedExperiment {
    private final String workload;
    private final PlayOptions play;
    private final PublishedSettings.Timing timing;
    private final boolean inPlace;
    private final Consumer<String> say;

    /**
     * An experiment.
     *
     * @param inPlace whether jobs change GPUs without a restart
     * @param say receives lines about its progress
     */
    PublishedExperiment(
            String workload, PlayOptions play, PublishedSettings.Timing timing, boolean inPlace, Consumer<String> say) {
        this.workload = workload;
        this.play = play;
        this.timing = timing;
        this.inPlace = inPlace;
        this.say = say;
    }

    /** Replays the workload with each policy; the outcomes of the runs that ended. */
    List<RunOutcome> replay(List<Run> runs) {
        Path file = Path.of(workload);
        boolean published = Files.isRegularFile(file) && PublishedWorkload.knows(file);
        Function<PublishedReplay, RunOutcome> replay = published ? published(file) : list();
        List<RunOutcome> outcomes = new ArrayList<>();
        for (Run run : runs) {
            boolean bare = run.policy().equals(ReplaySettings.NO_LENDING);
            try {
                PublishedSettings settings = PublishedSettings.of(
                                bare ? "deepboot" : run.policy(), play.nodes(), play.gpusPerNode())
                        .withTiming(timing)
                        .withAfe(inPlace);
                RunOutcome outcome =
                        replay.apply(new PublishedReplay(run.policy(), run.lends(), play.trainingNodes(), settings)
                                .withSeed(play.seed()));
                say.accept(ReplayExperiment.line(outcome.run().title(), outcome));
                outcomes.add(outcome);
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage(String.valueOf(e.getMessage()));
            } catch (IllegalStateException e) {
                say.accept("%s, fails: %s".formatted(run.title(), e.getMessage()));
            }
        }
        if (outcomes.isEmpty()) {
            throw UserError.failed("no policy came to an end");
        }
        return outcomes;
    }

    private Function<PublishedReplay, RunOutcome> published(Path file) {
        Path traces = play.profiles()
                .orElseThrow(
                        () -> UserError.badUsage(
                                "--profiles is missing; with --published-timing it must be the directory of the published traces."));
        PublishedWorkload rows = PublishedWorkload.read(file);
        return replay -> replay.run(rows, traces);
    }

    private Function<PublishedReplay, RunOutcome> list() {
        Workload list = play.load(workload, ReplayExperiment.DOMAIN);
        if (!list.loads().isEmpty()
                || !list.queues().isEmpty()
                || list.tasks().stream().anyMatch(task -> task.job().scaling().elastic())) {
            throw UserError.badUsage(
                    "--workload is '%s', but with --published-timing must be one file in the format of the DeepBoot or Pollux simulator (name,time,application,num_replicas,batch_size), or a list of rigid jobs."
                            .formatted(workload));
        }
        return replay -> replay.run(list);
    }

    /** A published simulator by its name. */
    static PublishedSettings.Timing timing(String name) {
        return switch (name) {
            case "deepboot" -> PublishedSettings.Timing.DEEPBOOT;
            case "pollux" -> PublishedSettings.Timing.POLLUX;
            default ->
                throw UserError.badUsage("--published-timing is '%s', but must be deepboot or pollux.".formatted(name));
        };
    }
}
