package io.lendstream.agent;

import io.lendstream.service.ServiceCommand;

/** {@code lendstream agent}. */
public final class AgentMain {
    private AgentMain() {}

    public static void main(String[] arguments) {
        System.exit(ServiceCommand.execute(new AgentCommand(System.out), arguments));
    }
}
