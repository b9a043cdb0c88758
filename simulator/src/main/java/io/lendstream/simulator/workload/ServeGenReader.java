package io.lendstream.simulator.workload;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.ServiceId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Reads the request rates of ServeGen's clients: {@code client,t_s,rate_rps,cv,...}, a line for each ten minutes of a
 * client.
 *
 * <p>The ten clients with most requests are a service each, {@code client-N}; the others together are {@code clients}.
 * A replica is as fast as makes the sum of all need three quarters of the inference GPUs at its peak, so that the shape
 * of demand is the trace's and its height the cluster's.
 *
 * @see <a href="https://github.com/alibaba/ServeGen">ServeGen: workload characterization and generation of large
 *     language model serving in production</a>
 */
final class ServeGenReader {
    private static final List<String> COLUMNS = List.of("client", "t_s", "rate_rps", "cv");
    private static final int SERVICES = 10;
    private static final double PEAK_SHARE = 0.75;
    private static final double USED_OF_A_REPLICA = 0.85;

    private ServeGenReader() {}

    static boolean knows(List<String> header) {
        return header.containsAll(COLUMNS);
    }

    private record Client(String name, List<Double> perSecond) {
        static Client of(String name, double[] rates) {
            return new Client(name, Arrays.stream(rates).boxed().toList());
        }

        double requests() {
            return perSecond.stream().mapToDouble(Double::doubleValue).sum();
        }

        double peak() {
            return perSecond.stream().mapToDouble(Double::doubleValue).max().orElse(0);
        }
    }

    static Workload read(Path file, Scene scene) {
        List<CsvRow> rows = CsvTable.read(file, COLUMNS.toArray(String[]::new)).rows();
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("%s has no client".formatted(file));
        }
        long step = step(rows);
        int steps = rows.stream().mapToInt(row -> row.whole("t_s", 0)).max().orElseThrow() / (int) step + 1;
        Map<Integer, double[]> rates = new TreeMap<>();
        for (CsvRow row : rows) {
            double[] series = rates.computeIfAbsent(row.whole("client", 0), any -> new double[steps]);
            series[row.whole("t_s", 0) / (int) step] += row.number("rate_rps", 0);
        }
        List<Client> clients = rates.entrySet().stream()
                .map(entry -> Client.of("client-" + entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparingDouble(Client::requests).reversed().thenComparing(Client::name))
                .toList();
        List<Client> served = new ArrayList<>(clients.subList(0, Math.min(SERVICES, clients.size())));
        if (clients.size() > SERVICES) {
            served.add(sum("clients", clients.subList(SERVICES, clients.size()), steps));
        }
        double peak = Math.max(Double.MIN_NORMAL, sum("all", clients, steps).peak());
        double capacity = peak / (Math.max(1, scene.inferenceGpus()) * PEAK_SHARE * USED_OF_A_REPLICA);
        List<ServiceLoad> loads = served.stream()
                .filter(client -> client.requests() > 0)
                .map(client -> load(client, Duration.ofSeconds(step), capacity, scene))
                .toList();
        return new Workload(DeepBootReader.nameOf(file), scene.start(), List.of(), loads);
    }

    private static long step(List<CsvRow> rows) {
        for (int i = 1; i < rows.size(); i++) {
            int step = rows.get(i).whole("t_s", 0) - rows.get(i - 1).whole("t_s", 0);
            if (step > 0) {
                return step;
            }
        }
        throw rows.get(0).bad("t_s", "at least two windows of a client");
    }

    private static Client sum(String name, List<Client> clients, int steps) {
        double[] sum = new double[steps];
        for (Client client : clients) {
            for (int i = 0; i < steps; i++) {
                sum[i] += client.perSecond.get(i);
            }
        }
        return Client.of(name, sum);
    }

    private static ServiceLoad load(Client client, Duration step, double capacity, Scene scene) {
        InferenceService service = new InferenceService(
                new ServiceId(client.name),
                scene.domain(),
                scene.start(),
                List.of(client.name),
                Duration.ofSeconds(10),
                capacity,
                Optional.empty(),
                0,
                Duration.ofSeconds(20));
        return new ServiceLoad(service, new Demand.Rates(scene.start(), step, client.perSecond, 0, 1 / capacity));
    }
}
