package io.lendstream.simulator.workload;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * The preset of language models: services whose replicas have 1, 2, 4 and 8 GPUs, one of them in the roles prefill and
 * decode, and training that could use more than its own GPUs.
 *
 * <p>Capacities are those of replicas on H200 GPUs with 1,024 tokens of input and 256 of output, and 64 requests at a
 * time, as NVIDIA's AIConfigurator 0.12 models them from measured kernel times (vLLM tables 0.24): requests per second,
 * time to the first token and time per token. Start times are in the range of published ones: 48 s for a restart of a
 * small model, 278 s for Qwen3-32B from a cached image, 2 to 7 minutes for large models; from sleep, the time to copy
 * the weights back to the GPUs, 3 s for 64 GiB.
 *
 * @see <a href="https://github.com/ai-dynamo/aiconfigurator">AIConfigurator</a>
 * @see <a href="https://blog.vllm.ai/2025/10/26/sleep-mode.html">Start times, and sleep, of vLLM</a>
 */
final class LlmPreset {
    static final String NAME = "llm";

    private static final int HOURS = 24;
    private static final double ARRIVAL_HOURS = 14;
    private static final double WORK_SHARE = 0.62;
    /** Inference GPUs that the replicas of all services take at their peaks, if these came at once. */
    private static final double PEAK_SHARE = 0.8;
    /** Load of the replicas at the peak: what a replica is planned with, and room for the forecast above it. */
    private static final double PEAK_LOAD = 0.85 * 0.85;
    /** One replica of each service, and room for one more of the largest. */
    private static final int FEWEST_GPUS = 25;

    /**
     * A model.
     *
     * @param share of the GPUs at the peak
     * @param perSecond requests per second of the replicas that take {@code gpus} GPUs
     * @param gpus of one replica of each role
     * @param seconds that an answer takes: the time to the first token, and 256 tokens
     */
    private record Model(
            String service,
            double peakHour,
            double share,
            double perSecond,
            int gpus,
            double seconds,
            int sloSeconds,
            List<ReplicaShape> shapes) {}

    private static final List<Model> MODELS = List.of(
            // Llama 3.1 8B on one GPU: 90.5 ms, 12.38 ms
            new Model("chat-8b", 15, 0.12, 19.7, 1, 3.3, 10, List.of(shape("tp1", 1, 1, 19.7, 30, 1))),
            // The same with one prefill and one decode worker: 41.9 ms, 8.4 ms
            new Model(
                    "agents-8b",
                    11,
                    0.12,
                    27.5,
                    2,
                    2.2,
                    8,
                    List.of(
                            shape("prefill", 1, 1, 38.6, 30, 1).as(ReplicaRole.PREFILL),
                            shape("decode", 1, 1, 27.5, 30, 1).as(ReplicaRole.DECODE))),
            // Qwen3 32B on two GPUs: 207.4 ms, 27.7 ms
            new Model("code-32b", 13, 0.16, 8.8, 2, 7.3, 20, List.of(shape("tp2", 2, 1, 8.8, 90, 3))),
            // Llama 3.1 70B on four GPUs: 239 ms, 29.58 ms
            new Model("expert-70b", 17, 0.3, 8.22, 4, 7.8, 20, List.of(shape("tp4", 4, 1, 8.22, 150, 7))),
            // Llama 3.1 405B on eight GPUs of one node: 526 ms, 76.85 ms; as a pipeline over two nodes 782 ms, 133 ms
            new Model(
                    "research-405b",
                    20,
                    0.3,
                    3.18,
                    8,
                    34.8,
                    60,
                    List.of(shape("tp8", 8, 1, 3.18, 300, 38), shape("tp4pp2", 4, 2, 3.69, 300, 38))));

    private LlmPreset() {}

    private static ReplicaShape shape(
            String name, int gpusPerNode, int nodes, double perSecond, int coldSeconds, int asleepSeconds) {
        Duration cold = Duration.ofSeconds(coldSeconds);
        return ReplicaShape.of(name, gpusPerNode, nodes, perSecond, cold)
                .starting(new StartTimes(cold, Optional.empty(), Optional.of(Duration.ofSeconds(asleepSeconds))));
    }

    /** Services and jobs that fit a scene. */
    static Workload create(Scene scene, SplittableRandom chance) {
        if (scene.inferenceGpus() < FEWEST_GPUS) {
            throw new IllegalArgumentException("preset %s needs at least %d inference GPUs, but there are %d"
                    .formatted(NAME, FEWEST_GPUS, scene.inferenceGpus()));
        }
        List<ServiceLoad> loads = new ArrayList<>();
        SplittableRandom ofLoads = chance.split();
        double busy = 0;
        for (Model model : MODELS) {
            Demand.Rates rates = rates(model, scene, ofLoads.split());
            loads.add(new ServiceLoad(service(model, scene), rates));
            busy += HOURS * rates.mean() / model.perSecond * model.gpus;
        }
        double idle = Math.max(0, HOURS * (double) scene.inferenceGpus() - busy);
        double gpuHours = WORK_SHARE * (HOURS * (double) scene.trainingGpus() + idle);
        int jobs = Math.min(80, Math.max(40, 24 + scene.trainingGpus()));
        List<TrainingTask> tasks = new TrainingGenerator(scene, chance.split()).generate(jobs, ARRIVAL_HOURS, gpuHours);
        return new Workload(NAME, scene.start(), tasks, loads);
    }

    private static Demand.Rates rates(Model model, Scene scene, SplittableRandom chance) {
        double gpus = model.share * PEAK_SHARE * scene.inferenceGpus();
        double replicas = Math.max(1, Math.floor(gpus / model.gpus));
        double peak = replicas * model.perSecond * PEAK_LOAD;
        List<Double> rates = DemandShape.smooth(model.peakHour).generate(1, chance).stream()
                .map(relative -> relative * peak)
                .toList();
        return new Demand.Rates(
                scene.start(), Duration.ofSeconds(DemandShape.STEP_SECONDS), rates, .002, model.seconds);
    }

    private static InferenceService service(Model model, Scene scene) {
        return new InferenceService(
                        new ServiceId(model.service),
                        scene.domain(),
                        scene.start(),
                        List.of(model.service),
                        Duration.ofSeconds(model.sloSeconds),
                        model.perSecond,
                        Optional.empty(),
                        1,
                        model.shapes.get(0).starts().cold())
                .inShapes(model.shapes);
    }
}
