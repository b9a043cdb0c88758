package io.lendstream.agent.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A pod's containers.
 *
 * @param ports by container name
 * @param runningSince by container name, for running containers
 */
record PodContainers(Map<String, List<Integer>> ports, Map<String, Instant> runningSince) {
    static PodContainers of(JsonNode pod) {
        var ports = new TreeMap<String, List<Integer>>();
        for (JsonNode container : pod.path("spec").path("containers")) {
            var of = new ArrayList<Integer>();
            for (Iterator<JsonNode> each = container.path("ports").elements(); each.hasNext(); ) {
                JsonNode port = each.next();
                if (port.path("protocol").asText("TCP").equals("TCP")) {
                    of.add(port.path("containerPort").asInt());
                }
            }
            ports.put(container.path("name").asText(""), of);
        }
        var since = new TreeMap<String, Instant>();
        for (JsonNode status : pod.path("status").path("containerStatuses")) {
            JsonNode running = status.path("state").path("running");
            if (running.isObject()) {
                since.put(
                        status.path("name").asText(""),
                        instant(running.path("startedAt").asText("")));
            }
        }
        return new PodContainers(ports, since);
    }

    /** An unreadable time counts as long ago: nothing has been started since. */
    private static Instant instant(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            return Instant.EPOCH;
        }
    }

    Optional<Integer> onlyPort() {
        List<Integer> all = ports.values().stream().flatMap(List::stream).toList();
        return all.size() == 1 ? Optional.of(all.get(0)) : Optional.empty();
    }

    /** The container of a port; the only container if no port is declared. */
    private Optional<String> of(int port) {
        return ports.entrySet().stream()
                .filter(each -> each.getValue().contains(port) || ports.size() == 1)
                .map(Map.Entry::getKey)
                .findFirst();
    }

    Optional<Instant> started(int port) {
        return of(port).map(runningSince::get);
    }

    boolean isRunning(int port) {
        return of(port).map(runningSince::containsKey).orElse(!runningSince.isEmpty());
    }
}
