package io.lendstream.launcher.declare;

import static io.lendstream.launcher.declare.SharedForms.amounts;
import static io.lendstream.launcher.declare.SharedForms.length;
import static io.lendstream.launcher.declare.SharedForms.wholes;

import io.lendstream.core.afe.PauseCosts;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.ProgramMode;
import io.lendstream.core.event.SubmittedProgram;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TopologyWish;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.KindId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The forms of the traits of a training job: batches, speed, costs, kinds and topology. */
final class TrainingForms {
    private static final ValueForm<Double> NOT_NEGATIVE =
            ScalarForms.number("a number of at least 0", new Limits.Real(0, 1e18));

    private TrainingForms() {}

    /** The batch sizes of a job. */
    static ValueForm<BatchRange> batch() {
        SpecField<BatchRange, Integer> initial = SpecField.mandatory(
                "initial",
                ScalarForms.whole(wholes(BatchRange.class, "initial", 1)),
                BatchRange::initial,
                "Total batch that the job is tuned for, in samples.");
        SpecField<BatchRange, Integer> localMax = SpecField.mandatory(
                "localMax",
                ScalarForms.whole(wholes(BatchRange.class, "localMax", 1)),
                BatchRange::localMax,
                "Largest batch in one GPU's memory, in samples.");
        SpecField<BatchRange, Integer> max = SpecField.optional(
                "max",
                ScalarForms.whole(wholes(BatchRange.class, "max", 1)),
                batch -> Optional.of(batch.max()).filter(most -> most != batch.initial()),
                "Largest total batch, in samples. Without it, as initial.");
        SpecField<BatchRange, Integer> localMin = SpecField.defaulted(
                "localMin",
                ScalarForms.whole(wholes(BatchRange.class, "localMin", 1)),
                1,
                BatchRange::localMin,
                "Smallest batch of one replica, in samples.");
        SpecField<BatchRange, Integer> fixed = SpecField.optional(
                "fixed",
                ScalarForms.whole(wholes(BatchRange.class, "fixed", 1)),
                BatchRange::fixed,
                "Total batch, in samples, if it must not change.");
        return new SpecFields<BatchRange>("batch sizes", List.of(initial, localMax, max, localMin, fixed))
                .building(values -> new BatchRange(
                        values.get(initial),
                        values.find(max).orElse(values.get(initial)),
                        values.get(localMin),
                        values.get(localMax),
                        values.find(fixed)));
    }

    /** The speed of a job, and the benefit of larger batches. */
    static ValueForm<GoodputProfile> profile() {
        SpecField<GoodputProfile, ThroughputParameters> throughput = SpecField.mandatory(
                "throughput",
                SharedForms.throughput(),
                GoodputProfile::throughput,
                "The speed: seven parameters of the step time (Pollux, OSDI 2021, section 3.2).");
        SpecField<GoodputProfile, GradientNoise> noise = SpecField.defaulted(
                "noise",
                noise(),
                GradientNoise.NONE,
                GoodputProfile::noise,
                "The benefit of larger batches. By default they have none.");
        return new SpecFields<GoodputProfile>("a profile", List.of(throughput, noise))
                .building(values -> new GoodputProfile(values.get(throughput), values.get(noise)));
    }

    private static ValueForm<GradientNoise> noise() {
        SpecField<GradientNoise, Double> squared = SpecField.mandatory(
                "squared",
                NOT_NEGATIVE,
                GradientNoise::squared,
                "Squared norm of the mean gradient at the initial batch size.");
        SpecField<GradientNoise, Double> variance = SpecField.mandatory(
                "variance",
                NOT_NEGATIVE,
                GradientNoise::variance,
                "Variance of the gradient at the initial batch size.");
        return new SpecFields<GradientNoise>("gradient statistics", List.of(squared, variance))
                .building(values -> new GradientNoise(values.get(squared), values.get(variance)));
    }

    /** The time that a job loses when its GPUs change. */
    static ValueForm<RescaleCosts> costs() {
        RescaleCosts usual = RescaleCosts.UNMEASURED;
        SpecField<RescaleCosts, Duration> first = SpecField.defaulted(
                "first",
                length(RescaleCosts.class, "first"),
                usual.first(),
                RescaleCosts::first,
                "Time without training at a start, or at a restart on other GPUs.");
        SpecField<RescaleCosts, Duration> next = SpecField.defaulted(
                "next",
                length(RescaleCosts.class, "next"),
                usual.next(),
                RescaleCosts::next,
                "Time without training at a change in place (AFE).");
        SpecField<RescaleCosts, PauseCosts> pausing = SpecField.optional(
                "pausing",
                pausing(),
                RescaleCosts::pausing,
                "Costs of a pause in host memory. Without them the job cannot be paused.");
        return new SpecFields<RescaleCosts>("costs of changes", List.of(first, next, pausing))
                .building(values -> new RescaleCosts(values.get(first), values.get(next), values.find(pausing)));
    }

    private static ValueForm<PauseCosts> pausing() {
        SpecField<PauseCosts, Duration> pause = SpecField.mandatory(
                "pause", length(PauseCosts.class, "pause"), PauseCosts::pause, "Time until the job has left its GPUs.");
        SpecField<PauseCosts, Duration> here = SpecField.mandatory(
                "resumeHere",
                length(PauseCosts.class, "resumeHere"),
                PauseCosts::resumeHere,
                "Time until it trains again on GPUs of the same node.");
        SpecField<PauseCosts, Duration> elsewhere = SpecField.optional(
                "resumeElsewhere",
                length(PauseCosts.class, "resumeElsewhere"),
                costs -> Optional.of(costs.resumeElsewhere()).filter(time -> !time.equals(costs.resumeHere())),
                "Time until it trains again on other nodes. Without it, as resumeHere.");
        SpecField<PauseCosts, Long> memory = SpecField.mandatory(
                "hostMemory",
                ScalarForms.memory(amounts(PauseCosts.class, "hostMemoryBytes")),
                PauseCosts::hostMemoryBytes,
                "Host memory that it keeps on its node while it is paused.");
        return new SpecFields<PauseCosts>("costs of a pause", List.of(pause, here, elsewhere, memory))
                .building(values -> new PauseCosts(
                        values.get(pause),
                        values.get(here),
                        values.find(elsewhere).orElse(values.get(here)),
                        values.get(memory)));
    }

    /** A job on one kind of GPU. */
    static ValueForm<KindTraits> kindTraits() {
        SpecField<KindTraits, KindId> kind = SpecField.mandatory(
                "kind", SharedForms.KIND, KindTraits::kind, "The kind as `lendstream top` shows it.");
        SpecField<KindTraits, KindRatio> ratio = SpecField.optional(
                "ratio",
                SharedForms.ratio(),
                KindTraits::ratio,
                "How much faster it is than the profile. Counts only without throughput.");
        SpecField<KindTraits, ThroughputParameters> throughput = SpecField.optional(
                "throughput", SharedForms.throughput(), KindTraits::throughput, "The speed on it, if known.");
        SpecField<KindTraits, Integer> localMax = SpecField.optional(
                "localMax",
                ScalarForms.whole(wholes(KindTraits.class, "localMax", 1)),
                KindTraits::localMax,
                "Largest batch of one replica, in samples. Without it, that of the batch, less where the kind has less memory than profileKind.");
        return new SpecFields<KindTraits>("a kind of GPU", List.of(kind, ratio, throughput, localMax))
                .building(values -> new KindTraits(
                        values.get(kind), values.find(throughput), values.find(ratio), values.find(localMax)));
    }

    /** The wish that all GPUs are near to each other. */
    static ValueForm<TopologyWish> topology() {
        SpecField<TopologyWish, TopologyLevel> level = SpecField.mandatory(
                "level", SharedForms.LEVEL, TopologyWish::level, "The level of the topology domain.");
        SpecField<TopologyWish, Boolean> required = SpecField.defaulted(
                "required",
                ScalarForms.flag(),
                false,
                TopologyWish::required,
                "Whether it never has GPUs of several domains. If false it has, where no domain has enough.");
        return new SpecFields<TopologyWish>("a topology", List.of(level, required))
                .building(values -> new TopologyWish(values.get(level), values.get(required)));
    }

    /** The program that a job brings. */
    static ValueForm<SubmittedProgram> program() {
        SpecField<SubmittedProgram, List<String>> command = SpecField.mandatory(
                "command",
                new ListForm<>(new ArgumentForm()),
                SubmittedProgram::command,
                "The program and its arguments, at most %d; no shell reads them."
                        .formatted(SubmittedProgram.MOST_ARGUMENTS));
        SpecField<SubmittedProgram, String> directory = SpecField.mandatory(
                "directory",
                ScalarForms.text(),
                SubmittedProgram::directory,
                "The working directory on the machine that runs it; an absolute path.");
        SpecField<SubmittedProgram, ProgramMode> mode = SpecField.defaulted(
                "mode",
                ScalarForms.choice(programModes()),
                ProgramMode.RESTART,
                SubmittedProgram::mode,
                "How it follows a change of its GPUs. restart: it ends and starts again. afe: in place, with lendstream_afe.");
        return new SpecFields<SubmittedProgram>("a program", List.of(command, directory, mode))
                .building(values -> new SubmittedProgram(values.get(command), values.get(directory), values.get(mode)));
    }

    private static Map<String, ProgramMode> programModes() {
        Map<String, ProgramMode> modes = new LinkedHashMap<>();
        modes.put("restart", ProgramMode.RESTART);
        modes.put("afe", ProgramMode.AFE);
        return modes;
    }
}
