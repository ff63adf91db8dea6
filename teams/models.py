"""People and what they belong to."""

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models

from kit.ids import new_id


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    EDITOR = "editor"
    OPERATOR = "operator"
    VIEWER = "viewer"


class UserAccounts(BaseUserManager["User"]):
    """Makes users; they are known by their e-mail address."""

    def create_user(self, email: str, password: str | None = None, **fields: object) -> "User":
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: object) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractUser):
    """A person who signs in. Known by e-mail; there is no user name."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    username = None  # type: ignore[assignment]
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=150, blank=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = []
    objects = UserAccounts()  # type: ignore[assignment,misc]

    def __str__(self) -> str:
        return self.name or self.email


class Workspace(models.Model):
    """A team's space; everything else belongs to one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """That a person belongs to a workspace, and as what."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "user"], name="one_membership_each")]


