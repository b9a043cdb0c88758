package io.lendstream.actuator.jobs;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The machines over which a job trains together. Each decision about such a job makes a new world, which each of the
 * machines derives by itself, so nothing is agreed between them.
 *
 * @param members the machines by name of their node; the first has rank 0 and the rendezvous
 * @param self this machine among them, from 0
 * @param port the port of the rendezvous on the first machine
 * @param device the network interface of this machine's address; absent if it is not found: then the communication
 *     library chooses
 */
public record WorldPart(
        List<Member> members, int self, int port, @Nullable String device) {
    private static final String INTERFACE = "GLOO_SOCKET_IFNAME";

    public WorldPart {
        members = List.copyOf(members);
    }

    /** The part of a machine, whose address is looked up here: this may take seconds without a name server. */
    public static WorldPart of(List<Member> members, int self, int port) {
        return new WorldPart(
                members,
                self,
                port,
                networkInterface(members.get(self).address()).orElse(null));
    }

    /**
     * A machine of the job.
     *
     * @param address where the others reach it: a name or an IP address
     * @param workers how many workers run there
     */
    public record Member(String node, String address, int workers) {}

    /** Whether this machine has rank 0 and the rendezvous. */
    boolean leads() {
        return self == 0;
    }

    /** The number of workers on all machines. */
    int size() {
        return members.stream().mapToInt(Member::workers).sum();
    }

    /** The rank of the first worker of this machine; the others follow. */
    int firstRank() {
        return members.subList(0, self).stream().mapToInt(Member::workers).sum();
    }

    /** Whether these slots are all that the world has on this machine. */
    boolean isWhole(Collection<Slot> slots) {
        return members.get(self).workers() == slots.size();
    }

    /** The address of the machine with rank 0. */
    String master() {
        return members.get(0).address();
    }

    /** Address and port of the rendezvous. */
    String endpoint() {
        return "%s:%d".formatted(master().indexOf(':') < 0 ? master() : "[" + master() + "]", port);
    }

    /** Variables that lead the workers' connections to the network of this machine's address. */
    Map<String, String> network() {
        return device == null ? Map.of() : Map.of(INTERFACE, device);
    }

    /** The same for a job on one machine. */
    static Map<String, String> localNetwork() {
        return Map.of(INTERFACE, "lo");
    }

    private static Optional<String> networkInterface(String address) {
        try {
            InetAddress own = InetAddress.getByName(address);
            if (own.isLoopbackAddress()) {
                own = InetAddress.getLoopbackAddress();
            }
            return Optional.ofNullable(NetworkInterface.getByInetAddress(own)).map(NetworkInterface::getName);
        } catch (UnknownHostException | SocketException e) {
            return Optional.empty();
        }
    }

    /** For people, such as {@code 3 workers over gpu-7, gpu-8; rank 0 at gpu-7:29517}. */
    public String inWords() {
        return "%d workers over %s; rank 0 at %s"
                .formatted(
                        size(),
                        String.join(", ", members.stream().map(Member::node).toList()),
                        endpoint());
    }
}
