package io.lendstream.launcher.declare;

import static io.lendstream.launcher.declare.SharedForms.amounts;
import static io.lendstream.launcher.declare.SharedForms.wholes;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.SubmittedProgram;
import io.lendstream.core.event.TopologyWish;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A training job. */
final class DeclaredJob implements DeclaredKind<TrainingJob> {
    /** The driver of jobs that files declare: the scheduler does not read it. */
    private static final String DRIVER = "process";

    private static final SpecField<TrainingJob, String> APPLICATION = SpecField.mandatory(
            "application",
            ScalarForms.text(),
            TrainingJob::application,
            "Name of the program; jobs of one application share profiles.");
    private static final SpecField<TrainingJob, JobGpus> GPUS = SpecField.mandatory(
            "gpus",
            JobGpus.form(),
            JobGpus::of,
            "Its number of GPUs, such as 4, or the range in which it may change while the job runs, such as 1-8.");
    private static final SpecField<TrainingJob, Integer> REQUESTED = SpecField.optional(
            "requestedGpus",
            ScalarForms.whole(wholes(TrainingJob.class, "requestedGpus", 1)),
            job -> Optional.of(job.scaling().requestedGpus())
                    .filter(gpus -> gpus != job.scaling().minGpus()),
            "GPUs that policies give which do not scale jobs. Without it, the fewest.");
    private static final SpecField<TrainingJob, Boolean> ELASTIC = SpecField.optional(
            "elastic",
            ScalarForms.flag(),
            job -> Optional.of(job.scaling().elastic())
                    .filter(elastic -> elastic != JobGpus.of(job).isRange()),
            "Whether its number of GPUs may change while it runs. Without it: true if gpus is a range.");
    private static final SpecField<TrainingJob, BatchRange> BATCH = SpecField.optional(
            "batch",
            TrainingForms.batch(),
            job -> Optional.of(job.traits().batch())
                    .filter(batch -> isElastic(job) || !batch.equals(usual(job).batch())),
            "Possible batch sizes. Mandatory if its number of GPUs may change; else one sample on each GPU by default.");
    private static final SpecField<TrainingJob, GoodputProfile> PROFILE = SpecField.optional(
            "profile",
            TrainingForms.profile(),
            job -> Optional.of(job.traits().profile()).filter(profile -> !profile.equals(GoodputProfile.UNKNOWN)),
            "An estimate of its speed, which measured steps correct. Without it: that of an earlier job of its application, or a usual one.");
    private static final SpecField<TrainingJob, RescaleCosts> COSTS = SpecField.defaulted(
            "costs",
            TrainingForms.costs(),
            RescaleCosts.UNMEASURED,
            job -> job.traits().costs(),
            "Costs of a start or a change, until they are measured. By default a start takes 10 s and a change in place 1 s.");
    private static final SpecField<TrainingJob, QueueId> QUEUE = SpecField.optional(
            "queue",
            SharedForms.QUEUE,
            TrainingJob::queue,
            "The queue whose quota its GPUs count in. Without it the job has no quota.");
    private static final SpecField<TrainingJob, Integer> PRIORITY = SpecField.defaulted(
            "priority",
            ScalarForms.whole(Limits.wholes(TrainingJob.class, "priority", int.class)),
            0,
            job -> job.precedence().priority(),
            "Higher goes first where queues are declared.");
    private static final SpecField<TrainingJob, String> PRIORITY_CLASS = SpecField.optional(
            "priorityClass",
            ScalarForms.name(),
            job -> job.precedence().priorityClass(),
            "A priority class of its queue, which gives it its priority.");
    private static final SpecField<TrainingJob, Instant> DEADLINE = SpecField.optional(
            "deadline", ScalarForms.time(), job -> job.precedence().deadline(), "Desired end.");
    private static final SpecField<TrainingJob, DeadlineKind> DEADLINE_KIND = SpecField.defaulted(
            "deadlineKind",
            ScalarForms.choice(deadlineKinds()),
            DeadlineKind.SOFT,
            job -> job.precedence().deadlineKind(),
            "soft: a wish. hard: the scheduler answers whether the job can end by then, and does not plan a job that cannot.");
    private static final SpecField<TrainingJob, List<Integer>> SIZES = SpecField.list(
            "sizes",
            ScalarForms.whole(wholes(TrainingJob.class, "sizes", 1)),
            job -> job.shape().sizes(),
            "The numbers of GPUs that it may have, within gpus. Without them: each number.");
    private static final SpecField<TrainingJob, Integer> MULTIPLE_OF = SpecField.defaulted(
            "multipleOf",
            ScalarForms.whole(wholes(TrainingJob.class, "multipleOf", 1)),
            1,
            job -> job.shape().multipleOf(),
            "Its number of GPUs is a multiple of this one.");
    private static final SpecField<TrainingJob, Boolean> WHOLE_NODES = SpecField.defaulted(
            "wholeNodes",
            ScalarForms.flag(),
            false,
            job -> job.shape().wholeNodes(),
            "Whether it takes all GPUs of each of its nodes.");
    private static final SpecField<TrainingJob, TopologyWish> TOPOLOGY = SpecField.optional(
            "topology",
            TrainingForms.topology(),
            job -> job.shape().topology(),
            "The topology domain that its GPUs share.");
    private static final SpecField<TrainingJob, Boolean> GANG = SpecField.defaulted(
            "gang",
            ScalarForms.flag(),
            false,
            job -> job.shape().gang(),
            "Whether the GPUs of one decision work together or not at all.");
    private static final SpecField<TrainingJob, List<KindId>> ALLOWED_KINDS = SpecField.list(
            "allowedKinds",
            SharedForms.KIND,
            job -> job.kindNeeds().allowedKinds(),
            "The kinds of GPU that it may use, as `lendstream top` shows them. Without them: each kind that fits.");
    private static final SpecField<TrainingJob, Long> MEMORY = SpecField.optional(
            "memory",
            ScalarForms.memory(amounts(TrainingJob.class, "memoryBytes")),
            job -> job.kindNeeds().memoryBytes(),
            "Memory of one replica. Kinds with less are left out.");
    private static final SpecField<TrainingJob, Long> SLICE_MEMORY = SpecField.optional(
            "sliceMemory",
            ScalarForms.memory(amounts(TrainingJob.class, "sliceMemoryBytes")),
            TrainingJob::sliceMemoryBytes,
            "Memory of one replica, at any batch that fits a whole GPU. With it, the waiting job may borrow a MIG instance with that memory.");
    private static final SpecField<TrainingJob, KindId> PROFILE_KIND = SpecField.optional(
            "profileKind",
            SharedForms.KIND,
            job -> job.kindNeeds().profileKind(),
            "The kind of GPU that profile and batch are of. Without it: the kind on which the job first reports a step.");
    private static final SpecField<TrainingJob, List<KindTraits>> KIND_TRAITS = SpecField.list(
            "kindTraits",
            TrainingForms.kindTraits(),
            job -> job.kindNeeds().kindTraits(),
            "What you know of the job on other kinds of GPU.");
    private static final SpecField<TrainingJob, Long> CPU = SpecField.optional(
            "cpuPerGpu",
            ScalarForms.cpu(amounts(TrainingJob.class, "cpuMillisPerGpu")),
            job -> job.hostNeed().cpuMillisPerGpu(),
            "CPU that it needs for each GPU. Without it: the share of the GPU in its node.");
    private static final SpecField<TrainingJob, Long> HOST_MEMORY = SpecField.optional(
            "memoryPerGpu",
            ScalarForms.memory(amounts(TrainingJob.class, "memoryBytesPerGpu")),
            job -> job.hostNeed().memoryBytesPerGpu(),
            "Host memory that it needs for each GPU. Without it: the share of the GPU in its node.");

    private static final SpecField<TrainingJob, AdoptionSelector> ADOPT = SpecField.optional(
            "adopt",
            new SelectorForm(),
            TrainingJob::adopt,
            "The job if it runs already, by attributes of the driver: it is taken over as it is, and waits until then. Without it, Lendstream starts the job.");

    private static final SpecField<TrainingJob, SubmittedProgram> PROGRAM = SpecField.optional(
            "program",
            TrainingForms.program(),
            TrainingJob::program,
            "The program that the job brings, if the settings of the actuator allow it. Without it, the file of its application on the machine.");

    private static final SpecFields<TrainingJob> SPEC = new SpecFields<>(
            "a training job",
            List.of(
                    APPLICATION,
                    GPUS,
                    REQUESTED,
                    ELASTIC,
                    BATCH,
                    PROFILE,
                    COSTS,
                    QUEUE,
                    PRIORITY,
                    PRIORITY_CLASS,
                    DEADLINE,
                    DEADLINE_KIND,
                    SIZES,
                    MULTIPLE_OF,
                    WHOLE_NODES,
                    TOPOLOGY,
                    GANG,
                    ALLOWED_KINDS,
                    MEMORY,
                    SLICE_MEMORY,
                    PROFILE_KIND,
                    KIND_TRAITS,
                    CPU,
                    HOST_MEMORY,
                    ADOPT,
                    PROGRAM));

    private static Map<String, DeadlineKind> deadlineKinds() {
        Map<String, DeadlineKind> kinds = new LinkedHashMap<>();
        kinds.put("soft", DeadlineKind.SOFT);
        kinds.put("hard", DeadlineKind.HARD);
        return kinds;
    }

    private static boolean isElastic(TrainingJob job) {
        return job.scaling().elastic();
    }

    /** The traits of a job that does not scale and declares none. */
    private static TrainingJob.Traits usual(TrainingJob job) {
        return TrainingJob.Traits.ofFixedSize(job.scaling().requestedGpus());
    }

    @Override
    public String name() {
        return "TrainingJob";
    }

    @Override
    public String word() {
        return "job";
    }

    @Override
    public List<String> spellings() {
        return List.of("job", "jobs", "trainingjob", "trainingjobs");
    }

    @Override
    public String doc() {
        return "A training job.";
    }

    @Override
    public Topic<TrainingJob> topic() {
        return TopicCatalogue.TRAINING_JOBS;
    }

    @Override
    public SpecFields<TrainingJob> spec() {
        return SPEC;
    }

    @Override
    public TrainingJob build(ObjectName name, Instant at, SpecValues values, Optional<TrainingJob> before) {
        TrainingJob.Scaling scaling = scaling(values);
        return new TrainingJob(
                new JobId(name.value()),
                name.domain(),
                before.map(TrainingJob::submittedAt).orElse(at),
                values.get(APPLICATION),
                scaling,
                new TrainingJob.Precedence(
                        values.get(PRIORITY),
                        values.find(DEADLINE),
                        values.get(DEADLINE_KIND),
                        values.find(QUEUE),
                        values.find(PRIORITY_CLASS)),
                traits(values, scaling),
                runner(values, before),
                values.find(SLICE_MEMORY),
                new KindNeeds(
                        values.get(ALLOWED_KINDS),
                        values.find(PROFILE_KIND),
                        values.find(MEMORY),
                        values.get(KIND_TRAITS)),
                new JobShape(
                        values.get(SIZES),
                        values.get(MULTIPLE_OF),
                        values.get(WHOLE_NODES),
                        values.find(TOPOLOGY),
                        values.get(GANG)),
                new HostNeed(values.find(CPU), values.find(HOST_MEMORY)));
    }

    private static TrainingJob.Runner runner(SpecValues values, Optional<TrainingJob> before) {
        Optional<SubmittedProgram> program = values.find(PROGRAM);
        String driver = program.isPresent()
                ? SubmittedProgram.DRIVER
                : before.filter(known -> known.program().isEmpty())
                        .map(TrainingJob::driver)
                        .orElse(DRIVER);
        return new TrainingJob.Runner(driver, values.find(ADOPT), program);
    }

    private static TrainingJob.Scaling scaling(SpecValues values) {
        JobGpus gpus = values.get(GPUS);
        return new TrainingJob.Scaling(
                values.find(REQUESTED).orElse(gpus.least()),
                gpus.least(),
                gpus.most(),
                values.find(ELASTIC).orElse(gpus.isRange()));
    }

    private static TrainingJob.Traits traits(SpecValues values, TrainingJob.Scaling scaling) {
        TrainingJob.Traits usual = TrainingJob.Traits.ofFixedSize(scaling.requestedGpus());
        Optional<BatchRange> batch = values.find(BATCH);
        Optional<GoodputProfile> profile = values.find(PROFILE);
        if (scaling.elastic() && batch.isEmpty()) {
            throw new IllegalArgumentException(
                    "batch is missing, but must be declared for a job whose number of GPUs may change (gpus is %s); add it, or give the job one number of GPUs"
                            .formatted(values.get(GPUS)));
        }
        return new TrainingJob.Traits(
                batch.orElse(usual.batch()), profile.orElse(GoodputProfile.UNKNOWN), values.get(COSTS));
    }

    @Override
    public String nameOf(TrainingJob job) {
        return job.job().value();
    }

    @Override
    public Optional<QueueId> queueOf(TrainingJob job) {
        return job.queue();
    }

    @Override
    public List<Column<TrainingJob>> columns() {
        return List.of(
                new Column<>("GPUS", false, job -> JobGpus.of(job).toString()),
                new Column<>("QUEUE", false, job -> Cells.text(job.queue())),
                new Column<>(
                        "PRIORITY",
                        false,
                        job -> Cells.text(job.precedence()
                                .priorityClass()
                                .or(() -> Optional.of(
                                        Integer.toString(job.precedence().priority()))))),
                new Column<>("APPLICATION", false, TrainingJob::application),
                new Column<>(
                        "DEADLINE", true, job -> Cells.text(job.precedence().deadline())),
                new Column<>("SUBMITTED", true, job -> job.submittedAt().toString()));
    }
}
