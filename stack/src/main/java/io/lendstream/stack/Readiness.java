package io.lendstream.stack;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;

/** Whether a child is ready; polled until it is. */
@FunctionalInterface
public interface Readiness {

    boolean isReady();

    /** Ready when a GET returns 200. */
    static Readiness http(URI uri) {
        return () -> {
            try {
                var connection = (HttpURLConnection) uri.toURL().openConnection();
                connection.setConnectTimeout(1_000);
                connection.setReadTimeout(5_000);
                try {
                    return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
                } finally {
                    connection.disconnect();
                }
            } catch (IOException e) {
                return false;
            }
        };
    }

    /**
     * Ready when a Kafka client sees a node.
     *
     * @param client properties for the authentication of the client
     */
    static Readiness broker(String host, int port, Map<String, String> client) {
        return () -> listens(host, port) && describesItself(host + ":" + port, client);
    }

    private static boolean listens(String host, int port) {
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), 1_000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean describesItself(String bootstrapServers, Map<String, String> client) {
        var properties = new TreeMap<String, Object>(client);
        properties.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        try (var admin = Admin.create(properties)) {
            return !admin.describeCluster().nodes().get(5, TimeUnit.SECONDS).isEmpty();
        } catch (ExecutionException | TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
