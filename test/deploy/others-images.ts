/**
 * What images of others do when they start, by Debian's programs (`docker.ts` tells where they are): a PostgreSQL, made anew by the
 * variables of its image, and Caddy.
 */
export const othersImages = `
mkdir -p /images/postgres /images/caddy
cat > /images/postgres/start <<'END'
#!/bin/bash -eu
data=/var/lib/postgresql/data; PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
mkdir -p /run/postgresql; install -m 600 -o postgres $POSTGRES_PASSWORD_FILE /run/postgresql/password; chown postgres $data /run/postgresql
as_postgres() { setpriv --reuid postgres --regid postgres --init-groups "$@"; }
as_postgres initdb -D $data --username=$POSTGRES_USER --pwfile=/run/postgresql/password --auth-host=scram-sha-256 $POSTGRES_INITDB_ARGS
echo 'host all all all scram-sha-256' >> $data/pg_hba.conf
echo "CREATE DATABASE $POSTGRES_DB" | as_postgres postgres --single -D $data postgres
exec setpriv --reuid postgres --regid postgres --init-groups postgres -D $data -c listen_addresses='*'
END
printf '#!/bin/sh\\nexport XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config\\nexec caddy run --config /etc/caddy/Caddyfile\\n' > /images/caddy/start
chmod 755 /images/*/start
for each in *.deb; do dpkg-deb --fsys-tarfile $each | tar -xf - -C / --keep-directory-symlink; done`;
