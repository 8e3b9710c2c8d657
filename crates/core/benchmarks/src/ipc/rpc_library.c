/* A procedure that answers a character with another one, called by the RPC library over the loopback. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <rpc/rpc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PROGRAM = 0x2070726f, VERSION = 1, PROCEDURE = 1 };

static char result;

static void answer(struct svc_req *request, SVCXPRT *transport)
{
    char character = 0;
    if (request->rq_proc != PROCEDURE) {
        svcerr_noproc(transport);
    } else if (!svc_getargs(transport, (xdrproc_t)xdr_char, (caddr_t)&character)) {
        svcerr_decode(transport);
    } else {
        unsigned long long value = (unsigned char)character;
        result = (char)(unsigned char)(value * 6364136223846793005ULL + 1442695040888963407ULL);
        svc_sendreply(transport, (xdrproc_t)xdr_char, (caddr_t)&result);
    }
}

static int fail(const char *what)
{
    printf("could not %s\n", what);
    return 1;
}

int main(int count, char **words)
{
    int tcp = count > 1 && strcmp(words[1], "tcp") == 0;
    struct sockaddr_in address;
    socklen_t bytes = sizeof address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int own = socket(AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
    if (own < 0 || bind(own, (struct sockaddr *)&address, bytes) || getsockname(own, (struct sockaddr *)&address, &bytes)
        || (tcp && listen(own, 1)))
        return fail("open a socket");
    pid_t parent = getpid(), server = fork();
    if (server < 0)
        return fail("fork");
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            return 1;
        if (count > 2) {
            cpu_set_t cpus;
            CPU_ZERO(&cpus);
            CPU_SET(atoi(words[2]), &cpus);
            if (sched_setaffinity(0, sizeof cpus, &cpus))
                return 1;
        }
        SVCXPRT *transport = tcp ? svctcp_create(own, 0, 0) : svcudp_create(own);
        /* Protocol 0: it is not made known to rpcbind. */
        if (transport == NULL || !svc_register(transport, PROGRAM, VERSION, answer, 0))
            return 1;
        svc_run();
        return 1;
    }
    close(own);
    int line = RPC_ANYSOCK;
    struct timeval again = {1, 0}, patience = {25, 0};
    CLIENT *client = tcp ? clnttcp_create(&address, PROGRAM, VERSION, &line, 0, 0)
                         : clntudp_create(&address, PROGRAM, VERSION, again, &line);
    if (client == NULL)
        return fail("reach the server");
    printf("%d\n", (int)server);
    fflush(stdout);
    unsigned long long calls;
    unsigned first;
    while (scanf("%llu %u", &calls, &first) == 2) {
        unsigned long long token = 0;
        char character = (char)(unsigned char)first;
        for (unsigned long long call = 0; call < calls; call++) {
            char reply = 0;
            if (clnt_call(client, PROCEDURE, (xdrproc_t)xdr_char, (caddr_t)&character, (xdrproc_t)xdr_char,
                          (caddr_t)&reply, patience) != RPC_SUCCESS)
                return fail("call");
            character = reply;
            token = token * 0x100000001b3ULL + (unsigned char)character;
        }
        printf("%llu %u\n", token, (unsigned)(unsigned char)character);
        fflush(stdout);
    }
    kill(server, SIGKILL);
    return 0;
}
