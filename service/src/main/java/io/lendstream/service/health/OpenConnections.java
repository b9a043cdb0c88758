package io.lendstream.service.health;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The connections that are open, oldest first: bounded in number and in time. */
final class OpenConnections {
    /** The most connections that are open at a time. */
    static final int MOST = 64;

    private static final Logger LOG = LoggerFactory.getLogger(OpenConnections.class);

    private final Set<Connection> open = new LinkedHashSet<>();
    private final Duration timeLimit;

    OpenConnections(Duration timeLimit) {
        this.timeLimit = timeLimit;
    }

    /** One client. */
    static final class Connection {
        private final Socket socket;
        private final long since = System.nanoTime();
        private volatile boolean complete;

        private Connection(Socket socket) {
            this.socket = socket;
        }

        Socket socket() {
            return socket;
        }

        /** The whole request has arrived: others are closed before this one. */
        void isComplete() {
            complete = true;
        }
    }

    /** Takes a new connection, and closes another for it where too many are open. */
    synchronized Connection open(Socket socket) {
        if (open.size() >= MOST) {
            Connection least = open.stream()
                    .filter(connection -> !connection.complete)
                    .findFirst()
                    .orElseGet(() -> open.iterator().next());
            open.remove(least);
            shut(least);
        }
        var connection = new Connection(socket);
        open.add(connection);
        return connection;
    }

    synchronized void close(Connection connection) {
        open.remove(connection);
        shut(connection);
    }

    synchronized void closeOverdue() {
        long now = System.nanoTime();
        for (Iterator<Connection> each = open.iterator(); each.hasNext(); ) {
            Connection connection = each.next();
            if (now - connection.since < timeLimit.toNanos()) {
                return; // those that follow are younger
            }
            each.remove();
            shut(connection);
        }
    }

    synchronized void closeAll() {
        List<Connection> all = new ArrayList<>(open);
        open.clear();
        all.forEach(OpenConnections::shut);
    }

    synchronized int count() {
        return open.size();
    }

    /** Closes the TCP connection itself, which waits for nobody; a thread that reads from it ends with an exception. */
    private static void shut(Connection connection) {
        try {
            connection.socket.close();
        } catch (IOException e) {
            LOG.trace("a connection does not close", e);
        }
    }
}
